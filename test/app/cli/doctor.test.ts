import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startSimulator } from '../../../src/app/demo/simulator/simulator.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';

describe('indexhouse doctor', () => {
  test('prints a line for each check and its remedy; exits with 0 without errors and with 1 otherwise', async () => {
    const upstream = await startSimulator({ websites: [{ id: 'site-a', pages: 5, nasty: false }] });
    onTestFinished(() => upstream.close());
    const good = await run(['doctor', '--config', writeConfig(temporaryFolder(), { baseUrl: upstream.url })]);
    expect(good.code).toBe(0);
    expect(good.stdout).toMatch(/^✓ config {5}.* is valid\n/);
    expect(good.stdout).toMatch(/✓ website {4}.* \(site-a\): readable, 5 pages\n/);

    const file = writeConfig(temporaryFolder(), { baseUrl: upstream.url, websites: ['site-a', 'site-z'] });
    const bad = await run(['doctor', '--config', file]);
    expect(bad.code).toBe(1);
    expect(bad.stdout).toMatch(/✗ website {4}site-z: the service answered 404 .*\n +→ Check its id under websites/);
  });

  test('a configuration that cannot be used is an array of findings, and exit code 2', async () => {
    const file = join(temporaryFolder(), 'indexhouse.yaml');
    writeFileSync(file, 'api:\n  base_url: http://example.com\n  tokn: x\n');
    const { code, stdout } = await run(['doctor', '--config', file, '--json']);
    expect(code).toBe(2);
    const findings: unknown = JSON.parse(stdout);
    expect(findings).toContainEqual({
      check: 'config',
      level: 'error',
      message: expect.stringContaining(`${file}:2:13: api.base_url is not encrypted`),
      remedy: expect.any(String),
    });
  });
});
