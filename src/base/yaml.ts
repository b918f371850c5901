import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The YAML parser, loaded when it is first needed: a command without a configuration reads no YAML. */
export function yaml(): typeof import('yaml') {
  return require('yaml');
}
