/**
 * Mocha's own report, and for .ci/run its counts as `passed failed skipped` in a file (--reporter-option counts=FILE),
 * what failed in another (FILE.failed: its test, and why) and in which files of tests (FILE.files, a line each).
 *
 * .ci/run ends the tests by SIGTERM when its time is over: then those that run are named. A parallel worker reports a
 * file only at its end, so it writes which test it runs into the folder TEST_RUNNING (test/leaves-nothing.ts).
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import Mocha from 'mocha';

const { EVENT_RUN_END, EVENT_TEST_BEGIN, EVENT_TEST_FAIL, EVENT_HOOK_BEGIN } = Mocha.Runner.constants;

export default class CountReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const { counts } = options.reporterOptions as { counts: string };
    const failed: string[] = [];
    const files = new Set<string>();
    const keep = () => {
      const { passes, failures, pending } = this.stats;
      writeFileSync(counts, `${passes} ${failures} ${pending}\n`);
      writeFileSync(`${counts}.failed`, failed.join(''));
      writeFileSync(`${counts}.files`, [...files].map((file) => `${file}\n`).join(''));
    };
    runner.on(EVENT_TEST_FAIL, (each: Mocha.Runnable, error: Error) => {
      const file = each.file === undefined ? UNKNOWN_FILE : relative('.', each.file);
      files.add(file);
      failed.push(
        `failed: ${each.fullTitle()} (${file})\n${(error.stack ?? error.message).slice(0, MOST_OF_A_STACK)}\n`,
      );
    });
    let running = 'no test yet';
    for (const begin of [EVENT_TEST_BEGIN, EVENT_HOOK_BEGIN]) {
      runner.on(begin, (each: Mocha.Runnable) => {
        running = each.fullTitle();
      });
    }
    runner.once(EVENT_RUN_END, keep);
    process.once('SIGTERM', () => {
      keep();
      const { TEST_RUNNING: folder } = process.env;
      for (const each of (folder && runningIn(folder)) || [running])
        process.stderr.write(`out of time during: ${each}\n`);
      process.exit(1);
    });
  }
}

/** A hook of all files belongs to none. */
const UNKNOWN_FILE = 'unknown';
/** In characters: a difference of long texts says enough at its beginning. */
const MOST_OF_A_STACK = 2_000;

/** Reads what the parallel workers run; undefined when there are none. */
function runningIn(folder: string): string[] | undefined {
  const found = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, 'utf8').trim());
  return found.length > 0 ? found : undefined;
}
