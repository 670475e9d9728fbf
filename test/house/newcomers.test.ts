/** What hosts and editors read of this tree: that it names what is there, and the versions that are run. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { listFiles, ROOT } from '../../.ci/sources.ts';
import holdfast from '../../package.json' with { type: 'json' };

const read = (file: string) => readFile(ROOT + file, 'utf8');
/** Runs everything; `.ci/runtime.mjs` demands it. */
const RUNS = async () => Number(/^const MAJOR = (\d+);$/m.exec(await read('.ci/runtime.mjs'))?.[1]);
/** Installs and starts. */
const OLDEST = Number.parseInt(holdfast.engines.node.replace('>=', ''), 10);

describe('what hosts and editors read', () => {
  it('runs .ci/run on the oldest Node that installs and on the one that runs, with the oldest PostgreSQL besides', async () => {
    const { jobs } = parse(await read('.github/workflows/ci.yml'));
    const { strategy, steps } = jobs.run;
    assert.deepEqual(strategy.matrix.node, [OLDEST, await RUNS()]);
    assert(steps.some(({ run }: { run?: string }) => run === 'bash .ci/run'));
    const [, oldest] =
      /postgresql\/(\d+)\/bin/.exec(await read('test/services/core/storage/oldest-postgres.test.ts')) ?? [];
    assert(steps.some(({ run = '' }: { run?: string }) => run.includes(` postgresql-${oldest}`)));
  });

  it('names one Node in .nvmrc, the image and the dev container', async () => {
    const major = await RUNS();
    assert.equal(Number(await read('.nvmrc')), major);
    assert.match(await read('Dockerfile'), new RegExp(`^FROM node:${major}\\.`, 'm'));
    assert.match(JSON.parse(await read('.devcontainer/devcontainer.json')).image, new RegExp(`:${major}-`));
  });

  it('gives each folder of CODEOWNERS that is there an owner', async () => {
    const files = await listFiles();
    const lines = (await read('.github/CODEOWNERS')).split('\n').filter((line) => /^[^#]/.test(line));
    assert(lines.length > 5);
    for (const line of lines) {
      const [pattern = '', ...owners] = line.split(/\s+/);
      assert(owners.length > 0 && owners.every((owner) => owner.startsWith('@')), line);
      assert(pattern === '*' || files.some((file) => `/${file}`.startsWith(pattern)), line);
    }
  });

  it('is YAML that parses, also where nothing reads it here', async () => {
    const files = (await listFiles()).filter((path) => /^\.github\/.*\.yml$/.test(path));
    assert(files.length >= 4);
    for (const file of files) assert(parse(await read(file)), file);
  });
});
