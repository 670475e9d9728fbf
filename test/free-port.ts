import { freePort as findPort } from '../services/quickstart/ports.ts';

/** More than there are test processes. */
const SHARES = 32;
const { MOCHA_WORKER_ID: own } = process.env;

/** Finds a free port. Test processes of a run share them out: none takes what another has found, but not opened yet. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await findPort();
    if (own === undefined || port % SHARES === Number(own) % SHARES) return port;
  }
}
