/** A process for child.test.ts with the behaviour that its argument names. */
if (process.send !== undefined) {
  const { BEHAVIOUR } = process.env;
  if (BEHAVIOUR === 'fail') {
    process.stdout.write('{"level":30}\n');
    process.stderr.write('fixture: PORT: must be a number\n');
    process.exit(1);
  }
  if (BEHAVIOUR !== undefined) {
    const waiting = setInterval(() => undefined, 1_000);
    process.on('disconnect', () => clearInterval(waiting));
    process.on('SIGTERM', () => process.exit(0));
  }
  if (BEHAVIOUR === 'serve') process.send({ ready: true });
}
