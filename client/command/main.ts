#!/usr/bin/env node
/** `holdfast`: the service on the command line. */
import { main } from './holdfast.ts';

process.exitCode = await main(process.argv.slice(2));
