#!/usr/bin/env node
/** `holdfast`: the service on the command line. */
import { main } from './holdfast.ts';

// The reader of the output, such as head, may end first. Then it ends as by SIGPIPE, which Node ignores.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(141);
});
process.exitCode = await main(process.argv.slice(2));
