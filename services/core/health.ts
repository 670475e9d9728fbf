import { HealthImplementation } from 'grpc-health-check';
import { type DatabaseWatch, type DatabaseWatchParts, watchDatabase } from './watch-database.ts';

/** Whether this process serves: its database is usable, and it is not stopping. */
export interface Health extends DatabaseWatch {
  isServing(): boolean;
  /** grpc.health.v1: the same status for the server ('') and each of its services. */
  readonly implementation: HealthImplementation;
  /** Reports NOT_SERVING from now on. */
  drain(): void;
}

export interface HealthParts extends Omit<DatabaseWatchParts, 'onProbe'> {
  /** Full names of the services that are served. */
  readonly services: readonly string[];
}

/** Watches the database and reports the status. Resolves after the first probe. */
export async function watchHealth({ services, ...parts }: HealthParts): Promise<Health> {
  const implementation = new HealthImplementation();
  let serving: boolean | undefined;
  let draining = false;
  const report = (next: boolean) => {
    if (next === serving) return;
    serving = next;
    for (const service of ['', ...services]) implementation.setStatus(service, next ? 'SERVING' : 'NOT_SERVING');
  };
  const onProbe = (isUsable: boolean) => {
    if (!draining) report(isUsable);
  };
  const watch = await watchDatabase({ ...parts, onProbe });
  return {
    ...watch,
    isServing: () => serving === true,
    implementation,
    drain() {
      draining = true;
      report(false);
    },
  };
}
