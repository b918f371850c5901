import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { packageFolder } from '../../src/base/storage/sql.js';
import { startSimulator } from '../given/client-clock.js';
import { writeConfig } from '../given/config-file.js';
import { folderOnDisk, temporaryFolder } from '../given/folder.js';
import { installed } from '../given/packages.js';

/** Packs into a folder. It is built already, and the other tests that run beside this one use what is built. */
function pack(folder: string): void {
  const args = ['pack', '--ignore-scripts', '--pack-destination', folder];
  execFileSync('npm', args, { cwd: packageFolder(), stdio: 'ignore' });
}

/** The schema that the configuration which `init` writes names, as an editor finds it from there. */
function schemaIn(folder: string): string {
  const [, schema = ''] = /\$schema=(\S+)/.exec(readFileSync(join(folder, 'indexhouse.yaml'), 'utf8')) ?? [];
  return schema.startsWith('file:') ? fileURLToPath(schema) : resolve(folder, schema);
}

test('the package, installed in a folder, runs the demo; the GitHub workflow installs and runs it globally', async (context) => {
  const packed = temporaryFolder();
  pack(packed);
  const folder = folderOnDisk('package');
  // Where there is no registry.
  if (!installed(folder, [join(packed, readdirSync(packed)[0] ?? '')])) context.skip();
  const options = { cwd: folder, encoding: 'utf8', stdio: 'pipe' } as const;
  const ran = (...words: string[]) => execFileSync('npx', ['indexhouse', ...words], options);
  expect(JSON.parse(ran('demo', '--json', '--pages', '40', '--nights', '2'))).toMatchObject({ receipts: [{}, {}] });
  expect(readdirSync(folder)).toContain('indexhouse-demo');
  ran('init');
  expect(schemaIn(folder)).toBe(join(folder, 'node_modules/indexhouse/docs/indexhouse.schema.json'));
  expect(existsSync(schemaIn(folder))).toBe(true);

  const prefix = folderOnDisk('global');
  const simulator = await startSimulator({ websites: [{ id: 'w', pages: 20 }] });
  const cwd = temporaryFolder();
  pack(cwd);
  const config = writeConfig(cwd, { baseUrl: simulator.url, sections: { warehouse: { path: './warehouse' } } });
  const env = { ...process.env, npm_config_prefix: prefix, PATH: `${prefix}/bin:${process.env['PATH']}` };
  const steps = readFileSync('deploy/github-actions/nightly.yml', 'utf8').matchAll(/- run: (.*)/g);
  for (const [, step = ''] of steps) await promisify(execFile)('bash', ['-e', '-c', step], { cwd, env });
  expect(readdirSync(cwd)).toEqual(expect.arrayContaining(['warehouse', 'report.html']));
  rmSync(config);
  execFileSync('indexhouse', ['init'], { cwd, env, stdio: 'ignore' });
  expect(schemaIn(cwd)).toBe(join(prefix, 'lib/node_modules/indexhouse/docs/indexhouse.schema.json'));
  expect(existsSync(schemaIn(cwd))).toBe(true);
});

test('the files of a release are made only for the tag of this version, with its notes', () => {
  const folder = join(temporaryFolder(), 'copy');
  const left = new Set(['.git', 'node_modules', 'dist']);
  cpSync(packageFolder(), folder, { recursive: true, filter: (path) => !left.has(basename(path)) });
  symlinkSync(join(packageFolder(), 'node_modules'), join(folder, 'node_modules'));
  const [, version] = /"version": "(.*)"/.exec(readFileSync(join(folder, 'package.json'), 'utf8')) ?? [];
  const made = (tag: string, changelog: string) => {
    writeFileSync(join(folder, 'CHANGELOG.md'), `# Changelog\n\n## Unreleased\n\n${changelog}`);
    const env = { ...process.env, GITHUB_REPOSITORY: 'example/indexhouse' };
    return spawnSync('bash', ['.github/release-files', tag, 'out'], { cwd: folder, env, encoding: 'utf8' });
  };
  const sections = `## ${version} (2026-11-30)\n\n- New.\n\n## 0.0.9 (2026-01-01)\n\n- Old.\n`;
  expect(made('v99.0.0', sections)).toMatchObject({ status: 1, stderr: expect.stringContaining('the tag is v99.0.0') });
  expect(made(`v${version}`, sections)).toMatchObject({ status: 0 });
  const out = join(folder, 'out');
  expect(readFileSync(join(out, 'notes.md'), 'utf8').trim()).toBe('- New.');
  execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: out, stdio: 'ignore' });
  expect(JSON.parse(readFileSync(join(out, `indexhouse-${version}.cdx.json`), 'utf8'))).toMatchObject({
    bomFormat: 'CycloneDX',
    metadata: { component: { name: 'indexhouse', purl: `pkg:npm/indexhouse@${version}` } },
    components: expect.arrayContaining([expect.objectContaining({ name: '@duckdb/node-api' })]),
  });
  const ofTarball = (...args: string[]) => execFileSync('tar', [...args], { cwd: out, encoding: 'utf8' });
  expect(ofTarball('tzf', `indexhouse-${version}.tgz`)).toContain('package/dist/src/app/cli/indexhouse.cjs\n');
  const manifest = ofTarball('xzOf', `indexhouse-${version}.tgz`, 'package/package.json');
  expect(manifest).toContain('/example/indexhouse.git');
});
