/**
 * `npm run release -- 1.1.0`: turns a clean tree into that of a release, as docs/contributing.md says, packs the
 * clients into dist/, and prints the commands that remain: commit, tag, image and packages are for a person to send.
 */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import holdfast from '../package.json' with { type: 'json' };
import { ROOT, runTool } from './sources.ts';
import { STATED_VERSIONS } from './stated-versions.ts';

const UNRELEASED = '## [Unreleased]\n';

const [version = ''] = process.argv.slice(2);
const fault = await faultOf(version);
if (fault === undefined) {
  await release();
} else {
  process.stderr.write(`${fault}\n`);
  process.exitCode = 1;
}

/** Returns why this tree cannot become that version; undefined when it can. */
async function faultOf(next: string): Promise<string | undefined> {
  if (!/^\d+\.\d+\.\d+$/.test(next)) return 'which version? npm run release -- 1.1.0';
  if (!isAfter(next, holdfast.version)) return `${next} is not after ${holdfast.version}`;
  if ((await runTool('git', ['status', '--porcelain'])) !== '') return 'commit or stash what is changed first';
  const [, entries = ''] = (await readFile(`${ROOT}CHANGELOG.md`, 'utf8')).split(UNRELEASED);
  if (!/^- /m.test(entries.split(/^## /m)[0] ?? '')) return 'CHANGELOG.md has nothing under Unreleased';
  return undefined;
}

function isAfter(next: string, last: string): boolean {
  const [before, after] = [last, next].map((text) => text.split('.').map(Number));
  const place = after?.findIndex((part, index) => part !== before?.[index]) ?? -1;
  return place >= 0 && Number(after?.[place]) > Number(before?.[place]);
}

async function release(): Promise<void> {
  await edit('CHANGELOG.md', (text) => text.replace(UNRELEASED, `${UNRELEASED}\n## [${version}] - ${today()}\n`));
  await edit('package.json', (text) => text.replace(`"version": "${holdfast.version}"`, `"version": "${version}"`));
  for (const [file, pattern] of STATED_VERSIONS) {
    await edit(file, (text) => text.replace(pattern, (line, stated: string) => line.replace(stated, version)));
  }
  // Both read the version from the files above.
  await run('node', '.ci/pin-release.ts');
  process.env.RELEASE = version;
  await run('mocha', 'test/services/core/storage/released/record.ts');
  const packages = await pack();
  process.stdout.write(remaining(packages).join('\n'));
}

async function edit(file: string, change: (text: string) => string): Promise<void> {
  await writeFile(ROOT + file, change(await readFile(ROOT + file, 'utf8')));
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

async function run(program: string, ...args: string[]): Promise<void> {
  process.stdout.write(`${program} ${args.join(' ')}\n`);
  await runTool(program, args);
}

/** Packs the clients of merchants. Returns their files. */
async function pack(): Promise<{ npm: string; python: string }> {
  await mkdir(`${ROOT}dist`, { recursive: true });
  await run('npm', 'pack', './client', '--pack-destination', 'dist');
  const packages = { npm: `dist/holdfast-client-${version}.tgz`, python: `dist/holdfast-${version}.py` };
  await copyFile(`${ROOT}client/python/holdfast/__init__.py`, ROOT + packages.python);
  return packages;
}

function remaining({ npm, python }: { npm: string; python: string }): string[] {
  const tag = `v${version}`;
  return [
    '',
    `The tree is that of ${version}. Read git diff, then:`,
    '',
    'bash .ci/run',
    `git add --all && git commit -m "Release ${version}"`,
    `git tag -a ${tag} -m ${tag} && git push origin HEAD ${tag}`,
    `docker build --tag "$REGISTRY/holdfast:${version}" . && docker push "$REGISTRY/holdfast:${version}"`,
    `npm publish ${npm}`,
    `gh release create ${tag} --verify-tag --title ${version} --notes-from-tag ${npm} ${python}`,
    '',
    'To give it up: git restore . && git clean -f .ci services test',
    '',
  ];
}
