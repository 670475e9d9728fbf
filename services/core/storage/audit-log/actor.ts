import { AsyncLocalStorage } from 'node:async_hooks';

const actors = new AsyncLocalStorage<string>();

/** Runs a call in the name of an actor: every audit entry that it writes carries that name. */
export function inNameOf<T>(actor: string, call: () => T): T {
  return actors.run(actor, call);
}

/** The actor of the current call: `operator`, `operator/NAME`, or `api-key/` and the id of a merchant's key. */
export function actorOfCall(): string {
  return actors.getStore() ?? 'operator';
}

/** Returns whether the audit log accepts this as an operator's name. */
export function isOperatorName(name: string): boolean {
  return /^[A-Za-z][A-Za-z0-9 ._@+-]{0,63}$/.test(name);
}

/** Checks the name of an operator, which the audit log keeps. Throws an Error that says its form. */
export function readOperator(name: string): string {
  if (isOperatorName(name)) return name;
  throw new Error('--operator NAME is needed: a letter, then at most 63 letters, digits or " ._@+-"');
}
