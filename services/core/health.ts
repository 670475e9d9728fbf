import { HealthImplementation } from 'grpc-health-check';
import { type DatabaseWatch, type DatabaseWatchParts, watchDatabase } from './watch-database.ts';

/** Whether this process can serve: it can work with its database, and it is not stopping. */
export interface Health extends DatabaseWatch {
  isServing(): boolean;
  /** grpc.health.v1: the same word for the server ('') and each of its services. */
  readonly implementation: HealthImplementation;
  /** From now on and for ever: not serving. */
  drain(): void;
}

export interface HealthParts extends Omit<DatabaseWatchParts, 'onLook'> {
  /** Full names of the services that are served. */
  readonly services: readonly string[];
}

/** Watches the database and says so to those who ask. Resolves after the first look at it. */
export async function watchHealth({ services, ...parts }: HealthParts): Promise<Health> {
  const implementation = new HealthImplementation();
  let serving: boolean | undefined;
  let draining = false;
  const tell = (next: boolean) => {
    if (next === serving) return;
    serving = next;
    for (const service of ['', ...services]) implementation.setStatus(service, next ? 'SERVING' : 'NOT_SERVING');
  };
  const onLook = (isUsable: boolean) => {
    if (!draining) tell(isUsable);
  };
  const watch = await watchDatabase({ ...parts, onLook });
  return {
    ...watch,
    isServing: () => serving === true,
    implementation,
    drain() {
      draining = true;
      tell(false);
    },
  };
}
