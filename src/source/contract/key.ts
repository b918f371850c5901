import { z } from 'zod';
import { text } from './fields.js';

/**
 * API key details at `GET /v1` (specification, 4.3: not shown; the form is the documented one of a service that runs
 * this interface). `_id` of an entry of `websites_access` is the `website_id` of the coverage listing.
 */
export const keyDetailsSchema = z.looseObject({
  _id: text,
  api_key_label: text,
  account: z.looseObject({ _id: text, email: text }),
  websites_access: z.array(z.looseObject({ _id: text, url: text })),
});
export type KeyDetails = z.infer<typeof keyDetailsSchema>;

/** The body of an error (specification, section 7: not shown; the documented form). */
export const errorBodySchema = z.looseObject({
  error: text,
  message: text,
  status: z.int(),
});
export type ErrorBody = z.infer<typeof errorBodySchema>;

const status = z.int().min(400).max(599);
const said = z.unknown().refine((error) => error != null && error !== false);

/** An error whose answer has status 200: it has no record, and 500 if it names no status. Google names it inside. */
export const sentErrorSchema = z.looseObject({
  error: z.looseObject({ code: status }).or(said.transform(() => ({ code: null }))),
  status: status.catch(500),
  url: z.undefined().optional(),
  urls: z.undefined().optional(),
});
