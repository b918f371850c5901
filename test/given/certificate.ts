import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'certificate');

/** The file of an authority that nobody knows, valid until 2126; its own key was thrown away. */
export const AUTHORITY = join(FOLDER, 'ca.pem');

/** What a server on loopback shows, signed by that authority. */
export const CERTIFICATE = {
  key: readFileSync(join(FOLDER, 'key.pem')),
  cert: readFileSync(join(FOLDER, 'cert.pem')),
};
