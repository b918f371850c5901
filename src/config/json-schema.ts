import { z } from 'zod';
import { configSchema } from './schema.js';

/** The JSON Schema of `indexhouse.yaml` as it is written (durations and sizes as text), for completion in editors. */
export function configJsonSchema(): Record<string, unknown> {
  // Draft 7 is what the YAML language server understands best.
  const generated = z.toJSONSchema(configSchema, { io: 'input', target: 'draft-7' });
  return { ...generated, title: 'indexhouse.yaml' };
}
