import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { errorFields, type Log, type LogFields, type LogOptions, openLog } from '../../platform/log.ts';

/** A log that keeps its lines for the test. */
function keptLog(options: LogOptions = {}) {
  const lines: { event: string; [name: string]: unknown }[] = [];
  const waiting: (() => void)[] = [];
  const write = (line: string) => {
    lines.push(JSON.parse(line));
    for (const wake of waiting.splice(0)) wake();
  };
  const log: Log = openLog('test', 'info', { destination: { write }, ...options });
  const next = () => new Promise<void>((resolve) => waiting.push(resolve));
  return { log, lines, next };
}

describe('openLog()', () => {
  const written = (fields: object) => {
    const { log, lines } = keptLog();
    log.warn('something', fields as LogFields);
    assert.equal(lines.length, 1);
    return JSON.stringify(lines[0]);
  };

  it('writes one JSON line', () => {
    const { level, time, ...rest } = JSON.parse(written({ status: 200, route: '/oct' }));
    assert.equal(level, 40);
    assert.match(time, /^\d{4}-.*Z$/);
    assert.deepEqual(rest, { process: 'test', status: 200, route: '/oct', event: 'something' });
  });

  it('drops fields that are not on its list', () => {
    const line = written({ preauthorizationId: 'pre_1', authorization: 'Bearer 1', body: { a: 1 }, url: '/x' });
    assert.doesNotMatch(line, /pre_1|Bearer|"a"|\/x/);
  });

  it('drops an object under an allowed name, and truncates long text', () => {
    const line = written({ reason: { secret: 1 }, statusInfo: 'x'.repeat(100_000), status: 400 });
    assert.doesNotMatch(line, /secret/);
    assert(line.length < 500);
  });

  it('writes the class, code, cause and frames of an error, not its message', () => {
    const cause = Object.assign(new Error('pre_cause'), { code: 'ECONNRESET' });
    const error = Object.assign(new TypeError('pre_secret\n    on two lines', { cause }), { code: 'ERR_X' });
    const line = written(errorFields(error));
    assert.doesNotMatch(line, /pre_secret|pre_cause|two lines/);
    const { error: name, code, cause: told, stack } = JSON.parse(line);
    assert.deepEqual([name, code, told], ['TypeError', 'ERR_X', 'Error ECONNRESET']);
    assert.match(stack, /log\.test\.ts/);
  });

  it('writes the class and frames of the first of several errors', () => {
    const line = written(errorFields(new AggregateError([new RangeError('no'), new Error('no')], 'two failed')));
    assert.match(line, /"error":"RangeError".*log\.test\.ts/);
  });
});

describe('the log of a process', () => {
  const LINES = 8_192;
  // 16 MiB, which is more than pipe and process keep.
  const talk = `
    captureOutput(log);
    for (let line = 0; line < ${LINES}; line++) log.info('said', { requestId: 'r', stack: 'x'.repeat(2_000) });`;
  const start = (program: string, ...output: ('pipe' | 'inherit' | 'ipc' | number)[]) =>
    spawn(process.execPath, argumentsOf(program), {
      stdio: ['ignore', ...output],
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });

  it('leaves out what nobody reads, and says how much', async () => {
    const goOn = `
      process.send('said');
      await new Promise((read) => process.stdout.once('drain', read));
      log.info('went on');
      process.disconnect();`;
    const child = start(`${talk} ${goOn}`, 'pipe', 'inherit', 'ipc');
    assert.deepEqual(await once(child, 'message'), ['said', undefined]);
    const said = text(child.stdout as NodeJS.ReadableStream);
    const lines = (await said).trim().split('\n');
    const [leftOut, last] = lines.slice(-2).map((line) => JSON.parse(line));
    assert.deepEqual([leftOut.event, last.event], ['lines left out', 'went on']);
    assert.equal(lines.length - 2 + leftOut.count, LINES);
  });

  it('does not keep the process from ending while nobody reads it', async () => {
    const child = start(`${talk} process.exit(0);`, 'pipe', 'inherit');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  it('does not end the process, or keep it from ending, when it cannot be written, as on a full disk', async () => {
    const unwritable = openSync(process.execPath, 'r');
    const child = start(`${talk} process.exit(7);`, unwritable, 'inherit');
    closeSync(unwritable);
    assert.deepEqual(await once(child, 'exit'), [7, null]);
  });
});

describe('limitRepeats()', () => {
  const FLOOD = 5_000;

  it('writes the first lines of a flood, and then how many it suppressed', async () => {
    const { log, lines, next } = keptLog({ windowMs: 20 });
    for (let sent = 0; sent < FLOOD; sent++)
      log.warn('refused', { status: 401, address: `10.0.${sent >> 8}.${sent & 255}` });
    const written = lines.length;
    assert(written > 0 && written <= 100, `${written} lines`);
    await next();
    const { time: _, process: __, ...rest } = lines.at(-1) ?? assert.fail();
    assert.deepEqual(rest, {
      event: 'lines left out',
      of: 'refused',
      count: FLOOD - written,
      status: 401,
      level: 40,
    });
  });

  it('starts again with each window', async () => {
    const { log, lines, next } = keptLog({ windowMs: 20 });
    for (let sent = 0; sent < FLOOD; sent++) log.info('request', { status: 429 });
    await next();
    const before = lines.length;
    log.info('request', { status: 429 });
    assert.equal(lines.length, before + 1);
  });

  it('suppresses no line that names an operation, and none of another outcome or merchant', () => {
    const { log, lines } = keptLog({ windowMs: 10_000 });
    for (let sent = 0; sent < FLOOD; sent++) log.info('request', { status: 429, merchantId: 'loud' });
    const before = lines.length;
    log.info('request', { status: 429, merchantId: 'calm' });
    log.info('request', { status: 500, merchantId: 'loud' });
    log.error('request', { status: 429, merchantId: 'loud' });
    for (let sent = 0; sent < 500; sent++)
      log.info('request', { status: 429, merchantId: 'loud', requestId: String(sent) });
    assert.equal(lines.length, before + 503);
  });

  for (const [how, end] of [
    ['has nothing left to do', ''],
    ['exits', 'process.exit(0);'],
  ] as const) {
    it(`writes its counts when the process ${how}`, () => {
      const flood = `for (let sent = 0; sent < ${FLOOD}; sent++) log.info('request', { status: 404 });`;
      const lines = run(`${flood} ${end}`).stdout.trim().split('\n');
      const { event, of, count } = JSON.parse(lines.at(-1) ?? '');
      assert.deepEqual([event, of], ['lines left out', 'request']);
      assert.equal(lines.length - 1 + count, FLOOD);
    });
  }
});

describe('captureOutput()', () => {
  for (const crash of ["throw new RangeError('pre_secret')", "Promise.reject(new RangeError('pre_secret'))"]) {
    it(`turns ${crash} into one line without its message`, () => {
      const { stdout, stderr, status } = run(`captureOutput(log); ${crash}`);
      assert.equal(status, 1);
      assert.doesNotMatch(stdout + stderr, /pre_secret/);
      const { event, error, stack } = JSON.parse(stdout);
      assert.deepEqual([event, error], ['crashed', 'RangeError']);
      assert.match(stack, /at /);
    });
  }

  it("turns a library's output into a line without its message", () => {
    const { stdout, stderr } = run(
      `captureOutput(log); console.error('handler failed: pre_secret', new TypeError('pre_secret'))`,
    );
    assert.equal(stderr, '');
    assert.doesNotMatch(stdout, /pre_secret/);
    const { event, error } = JSON.parse(stdout);
    assert.deepEqual([event, error], ['library message', 'TypeError']);
  });
});

/** Runs a program that has a log until it exits. */
function run(program: string) {
  return spawnSync(process.execPath, argumentsOf(program), { encoding: 'utf8' });
}

function argumentsOf(program: string): string[] {
  const log = new URL('../../platform/log.ts', import.meta.url).href;
  const source = `import { captureOutput, openLog } from '${log}'; const log = openLog('test', 'info'); ${program}`;
  return ['--input-type=module', '-e', source];
}
