/**
 * Mocha's own report, and its counts as `passed failed skipped` in a file (--reporter-option counts=FILE) for .ci/run.
 */
import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

export default class CountReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const { counts } = options.reporterOptions as { counts: string };
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      writeFileSync(counts, `${passes} ${failures} ${pending}\n`);
    });
  }
}
