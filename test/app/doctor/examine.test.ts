import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Simulator } from '../../../src/app/demo/simulator/simulator.js';
import type { CheckResult } from '../../../src/app/doctor/check-result.js';
import { type DoctorEffects, examine } from '../../../src/app/doctor/examine.js';
import { duckdb } from '../../../src/base/storage/duckdb.js';
import { summedJson } from '../../../src/base/storage/json-file.js';
import { realRunEffects } from '../../../src/sync/context.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { RunLock } from '../../../src/warehouse/log/lock.js';
import { run } from '../../given/cli.js';
import { startSimulator } from '../../given/client-clock.js';
import { type GivenConfig, writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { given, syncNow } from '../../given/synced.js';

const FORBIDDEN = 'site-b';

/** A service with two websites, of which the key may read the first. */
function service(): Promise<Simulator> {
  return startSimulator({
    websites: ['site-a', FORBIDDEN].map((id) => ({ id, pages: 5 })),
    keys: [{ token: 'demo-token', label: 'tests', websites: ['site-a'] }],
  });
}

async function doctor(config: GivenConfig, effects: Partial<DoctorEffects> = {}, folder = temporaryFolder()) {
  const file = writeConfig(folder, config);
  const known = { ...realRunEffects, availableMemory: () => 4e9, ...effects };
  return (await examine(() => given(file), new AbortController().signal, known)).findings;
}

function of(findings: CheckResult[], check: string): CheckResult[] {
  return findings.filter((finding) => finding.check === check);
}

describe('doctor', () => {
  test('finds nothing wrong where all is well, with one request for the key and one for each website', async () => {
    const { url, requests } = await service();
    const findings = await doctor({ baseUrl: url, websites: ['site-a'] });
    expect(findings.filter(({ level }) => level !== 'ok')).toEqual([]);
    const checks = 'config, base_url, token, clock, website, warehouse, disk, memory';
    expect(findings.map(({ check }) => check).join(', ')).toBe(checks);
    expect(of(findings, 'website')[0]?.message).toBe('site-a: readable, 5 pages');
    expect([...requests.byRequest.keys()]).toEqual(['/v1', '/v1/urls/site-a?skip=0&limit=1']);
  });

  test('a wrong token is one error, costs two requests, and never shows the token', async () => {
    const { url, requests } = await service();
    const findings = await doctor({ baseUrl: url, token: 'no-such-token-4711', websites: ['site-a'] });
    expect(of(findings, 'token')).toMatchObject([{ level: 'error', message: expect.stringContaining('401') }]);
    expect(of(findings, 'token')[0]?.remedy).toContain('api.token');
    expect(of(findings, 'website')).toMatchObject([{ level: 'warning' }]);
    expect(requests.attempted).toBe(2);
    expect(JSON.stringify(findings)).not.toContain('4711');
  });

  test('a website that the key may not read differs from one that does not exist', async () => {
    const { url } = await service();
    const websites = of(await doctor({ baseUrl: url, websites: ['site-a', FORBIDDEN, 'nowhere'] }), 'website');
    expect(websites.map(({ level }) => level)).toEqual(['ok', 'error', 'error']);
    expect(websites[1]).toMatchObject({ message: expect.stringContaining('403') });
    expect(websites[1]?.remedy).toContain('Grant the key access');
    expect(websites[2]).toMatchObject({ message: expect.stringMatching(/^nowhere: .*404/) });
    expect(websites[2]?.remedy).toContain('The key has access to: site-a');
    // That differs from a wrong path of the base URL.
    const wrong = of(await doctor({ baseUrl: `${url}/wrong/path`, websites: ['site-a'] }), 'website');
    expect(wrong).toMatchObject([{ level: 'error', remedy: expect.stringMatching(/the path of api\.base_url/) }]);
  });

  test('where nobody answers, asks for no website and checks no token', async () => {
    const silent = await doctor({ baseUrl: 'http://127.0.0.1:1', websites: ['site-a'] });
    expect(of(silent, 'base_url')).toMatchObject([{ level: 'error' }]);
    for (const check of ['website', 'token']) expect(of(silent, check)).toMatchObject([{ level: 'warning' }]);
  });

  test('compares the clock with the service, in the words of a sync', async () => {
    const { url } = await service();
    const config = { baseUrl: url, websites: ['site-a'] };
    const clockAt = async (minutes: number) =>
      of(await doctor(config, { now: () => Date.now() + minutes * 60_000 }), 'clock')[0];
    expect(await clockAt(9)).toMatchObject({ level: 'ok' });
    expect(await clockAt(11)).toMatchObject({ level: 'warning', message: expect.stringContaining('11m ahead of') });
    expect(await clockAt(-61)).toMatchObject({ level: 'error', remedy: expect.stringMatching(/^Set this clock/) });
  });

  test('says what status says, who holds the run lock, and that the clock is behind the newest snapshot', async () => {
    const { url } = await service();
    const folder = temporaryFolder();
    const config = { baseUrl: url, websites: ['site-a'] };
    await syncNow(writeConfig(folder, config));
    const lock = await RunLock.take(join(folder, 'warehouse'), 'sync');
    const [marker = ''] = await listTableFiles(join(folder, 'warehouse'), 'snapshots');
    const whole = readFileSync(marker);
    writeFileSync(marker, 'garbage');
    const findings = of(await doctor(config, {}, folder), 'status');
    lock.release();
    for (const said of [`process ${process.pid} `, marker])
      expect(findings).toContainEqual(expect.objectContaining({ message: expect.stringContaining(said) }));
    writeFileSync(marker, whole);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 2 * 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    const message = expect.stringMatching(/2d behind the newest snapshot, /);
    expect(of(await doctor(config, {}, folder), 'clock')).toMatchObject([{ level: 'error', message }]);
  });

  test('a warehouse of another time zone is an error', async () => {
    const { url } = await service();
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'warehouse'));
    const other = summedJson({ warehouse_format: 1, id: randomUUID(), time_zone: 'Europe/Berlin' });
    writeFileSync(join(folder, 'warehouse', 'warehouse.json'), other);
    const found = of(await doctor({ baseUrl: url, websites: ['site-a'] }, {}, folder), 'warehouse');
    expect(found).toMatchObject([{ level: 'error', message: expect.stringContaining('Europe/Berlin') }]);
  });

  test('a share that refuses locks is named by doctor and sync', async () => {
    const { url } = await service();
    const folder = temporaryFolder();
    const file = writeConfig(folder, { baseUrl: url, websites: ['site-a'] });
    const { create } = duckdb.DuckDBInstance;
    const creating = vi.spyOn(duckdb.DuckDBInstance, 'create').mockImplementation((path, options) => {
      if (!path?.startsWith(folder)) return create.call(duckdb.DuckDBInstance, path, options);
      const why = 'File locks are not supported for this file system, cannot open the file in read-write mode.';
      return Promise.reject(new Error(`IO Error: Could not set lock on file "${path}": ${why}`));
    });
    onTestFinished(() => creating.mockRestore());
    const said = /refuses locks, without which two runs could write at once\W+Mount it with locks, or set warehouse/;
    expect(await run(['doctor', '--config', file])).toMatchObject({ code: 1, stdout: expect.stringMatching(said) });
    expect(await run(['sync', '--config', file])).toMatchObject({ code: 1, stderr: expect.stringMatching(said) });
  });

  test('measures disk and memory against what is needed', async () => {
    const { url } = await service();
    const config = { baseUrl: url, websites: ['site-a'] };
    const effects = { diskOf: async () => ({ free: 1e5, reserve: 1e6 }), availableMemory: () => 256e6 };
    const findings = await doctor(config, effects);
    expect(of(findings, 'disk')).toMatchObject([{ level: 'error' }]);
    expect(of(findings, 'memory')).toMatchObject([{ level: 'warning' }]);
  });

  test('is printed with a remedy below, and exits with 1 if anything is an error', async () => {
    const { url } = await service();
    const { code, stdout } = await run([
      'doctor',
      '--config',
      writeConfig(temporaryFolder(), { baseUrl: url, websites: ['z'] }),
    ]);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^✓ config {5}.* is valid\n[\s\S]*✗ website {4}z: .* 404 .*\n +→ Check its id under websites/,
    );
  });

  test('a configuration that cannot be used is an array of findings, and exit code 2', async () => {
    const file = join(temporaryFolder(), 'indexhouse.yaml');
    writeFileSync(file, 'api:\n  base_url: http://example.com\n  tokn: x\n');
    const { code, stdout } = await run(['doctor', '--config', file, '--json']);
    const message = expect.stringContaining(`${file}:2:13: api.base_url is not encrypted`);
    const finding = { check: 'config', level: 'error', message, remedy: expect.any(String) };
    expect([code, JSON.parse(stdout)]).toEqual([2, expect.arrayContaining([finding])]);
  });
});
