import { expect, it } from 'vitest';
import { isLoopback } from '../../src/service/addresses.js';

it.each(['127.0.0.1', '127.8.9.10', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', 'localhost', 'LocalHost'])(
  '%s is this machine alone',
  (host) => expect(isLoopback(host)).toBe(true),
);

it.each(['0.0.0.0', '::', '0', '', '128.0.0.1', '192.168.0.1', '127.0.0.1.example', '::ffff:10.0.0.1', 'example.com'])(
  '%j is reachable from elsewhere',
  (host) => expect(isLoopback(host)).toBe(false),
);
