import { z } from 'zod';
import { mapping, says, serverUrl, text } from './scalars.js';

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;

const database = says('is not the name of a database', 'Write letters, digits and _, such as indexhouse.');
const password = says('is not a password', `Write it in quotes, best as \${NAME} to read it from the environment.`);

/** `clickhouse`. The loader reads `password_file`, so that `password` is set in either case. */
export const clickhouse = z.strictObject(
  {
    url: serverUrl('Write it as https://clickhouse.example.com:8443, without a user and a path.').describe(
      "Address of the server's HTTP interface; plain http sends the password unencrypted.",
    ),
    database: z
      .string(database)
      .regex(NAME, database)
      .prefault('indexhouse')
      .describe('Database for the tables and views; created if it is missing.'),
    user: text('a user').prefault('default').describe('User at the server.'),
    password: z.string(password).optional().describe(`Password of that user; \${NAME} reads the environment.`),
    password_file: text('a path')
      .optional()
      .describe('File that holds the password, instead of `password`; relative to this file.'),
  },
  mapping,
);

/** A ClickHouse server as it is configured. */
export type ClickhouseConfig = z.output<typeof clickhouse>;
