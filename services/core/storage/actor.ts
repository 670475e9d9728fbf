import { AsyncLocalStorage } from 'node:async_hooks';

const actors = new AsyncLocalStorage<string>();

/** Runs a call in the name of somebody: whatever it writes into the audit log, however deep, carries that name. */
export function inNameOf<T>(actor: string, call: () => T): T {
  return actors.run(actor, call);
}

/** Who acts: `operator`, or `operator/` and the name that the call gave. */
export function actorOfCall(): string {
  return actors.getStore() ?? 'operator';
}
