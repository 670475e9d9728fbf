import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { listFiles, ROOT } from '../../../.ci/sources.ts';
import { atNight } from '../../at-night.ts';
import { forSuite } from '../../suite.ts';
import { EDITS, withAnswers } from './trial.ts';

/** The rows of the table: a file, or one like it, and what reports that it is missing. */
const RECIPE = readFileSync(`${ROOT}docs/contributing.md`, 'utf8')
  .split('## A kind of operation')[1]
  ?.matchAll(/^\| \d+ \| .*?`([\w./-]+)`.*? \| .* \| (.+) \|$/gm)
  .map(([, file = '', reporter = '']) => ({ file, reporter }))
  .toArray() as { file: string; reporter: string }[];

/** For every change one row for each of those who report; all at night. */
const isLeftOut = ({ reporter }: { reporter: string }, index: number) =>
  atNight(true, RECIPE.findIndex((row) => row.reporter === reporter) === index);

describe('the recipe of a new kind in docs/contributing.md', () => {
  const tree = forSuite(copyTree);

  it('has a row for each file that a made-up kind touches, and no other', () => {
    const rows = RECIPE.map(({ file }) => file);
    const touched = EDITS.map(({ file, from = file }) => from);
    assert.deepEqual(rows, touched);
  });

  it('is complete: nothing reports that something is missing', async () => {
    await tree.make();
    assert.deepEqual(await tree.faults('compiler'), []);
    for (const reporter of new Set(RECIPE.map((row) => row.reporter))) {
      if (reporter !== 'compiler') assert.deepEqual(await tree.faults(reporter), [], reporter);
    }
  });

  for (const [index, row] of RECIPE.entries()) {
    if (!isLeftOut(row, index)) continue;
    const { file, reporter } = row;
    it(`without ${file} is reported by ${reporter}`, async () => {
      await tree.make(index);
      assert.notDeepEqual(await tree.faults(reporter), []);
    });
  }
});

/** Copies the tree into a temporary folder. */
async function copyTree() {
  const folder = await mkdtemp(`${tmpdir()}/holdfast-new-kind-`);
  const files = await listFiles();
  for (const file of files) await cp(ROOT + file, `${folder}/${file}`);
  await symlink(`${ROOT}node_modules`, `${folder}/node_modules`);
  const run = promisify(execFile);
  await run('git', ['init', '--quiet'], { cwd: folder });
  const config = { extends: './tsconfig.json', compilerOptions: { incremental: true, tsBuildInfoFile: 'built' } };
  await writeFile(`${folder}/recipe.json`, JSON.stringify({ ...config, include: [], files: COMPILED }));

  /** Runs a program in the copy; its faults, none when it ends well. */
  async function faultsOf(program: string, ...args: string[]): Promise<string[]> {
    const options = { cwd: folder, env: { ...process.env, NO_COLOR: '1' }, maxBuffer: 2 ** 26 };
    return run(process.execPath, [`${ROOT}node_modules/${program}`, ...args], options).then(
      () => [],
      ({ stdout, stderr }) => [stdout + stderr],
    );
  }

  return {
    /** Makes the kind in the copy, without one of the files. */
    async make(without?: number): Promise<void> {
      for (const { file, from = file } of EDITS) {
        if (from === file) await cp(ROOT + file, `${folder}/${file}`);
        else await rm(`${folder}/${file}`, { force: true });
      }
      for (const [index, { file, from = file, edit }] of EDITS.entries()) {
        if (index === without) continue;
        await mkdir(dirname(`${folder}/${file}`), { recursive: true });
        await writeFile(`${folder}/${file}`, edit(await readFile(ROOT + from, 'utf8')));
      }
      const answers = 'gateway/openapi/examples/answers.json';
      await writeFile(`${folder}/${answers}`, withAnswers(await readFile(ROOT + answers, 'utf8')));
      assert.deepEqual(await faultsOf('@bufbuild/buf/bin/buf', 'generate'), []);
      const write =
        "const { write } = await import('./.ci/generated.ts'); await write((await import('./.ci/kinds.ts')).KINDS);";
      await run(process.execPath, ['--input-type=module-typescript', '--eval', write], { cwd: folder });
    },
    /** What the compiler, or a test, reports. */
    faults: (reporter: string) =>
      reporter === 'compiler'
        ? faultsOf('typescript/bin/tsc', '--noEmit', '--project', 'recipe.json')
        : faultsOf('mocha/bin/mocha.js', reporter.replaceAll('`', '')),
    close: () => rm(folder, { recursive: true }),
  };
}

/** From these all that a kind touches is imported. */
const COMPILED = [
  'services/core/index.ts',
  'gateway/index.ts',
  'gateway/openapi/document.ts',
  'test/services/core/kinds/samples.ts',
];
