/** Every test by default; those named on the command line instead, since mocha would add them to a fixed list. */
const named = process.argv.slice(2).some((argument) => argument.startsWith('test/'));

export default {
  require: ['test/setup.ts'],
  timeout: 10_000,
  ...(named ? {} : { spec: ['test/**/*.test.ts'] }),
};
