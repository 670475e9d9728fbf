import { HealthImplementation } from 'grpc-health-check';
import type { Processors } from '../processor/processors.ts';
import { type DatabaseWatchParts, watchDatabase } from './watch-database.ts';

export type Health = Awaited<ReturnType<typeof watchHealth>>;

export interface HealthParts extends Omit<DatabaseWatchParts, 'onProbe'> {
  /** Full names of the services that are served. */
  readonly services: readonly string[];
  readonly processors: Pick<Processors, 'names' | 'of'>;
}

/**
 * Watches whether this process serves: its database is usable, and it is not stopping. Reports it as grpc.health.v1:
 * the same status for the server ('') and each of its services; that of a processor for `processor/<name>`. Resolves
 * after the first probe.
 */
export async function watchHealth({ services, processors, ...parts }: HealthParts) {
  const implementation = new HealthImplementation();
  const statuses = new Map<string, boolean>();
  const report = (service: string, isServing: boolean) => {
    if (statuses.get(service) === isServing) return;
    statuses.set(service, isServing);
    implementation.setStatus(service, isServing ? 'SERVING' : 'NOT_SERVING');
  };
  const reportAll = (isServing: boolean) => {
    for (const service of ['', ...services]) report(service, isServing);
  };
  let draining = false;
  const onProbe = (isUsable: boolean) => {
    for (const processor of processors.names) {
      report(`processor/${processor}`, processors.of({ processor }).isAvailable());
    }
    if (!draining) reportAll(isUsable);
  };
  const watch = await watchDatabase({ ...parts, onProbe });
  return {
    ...watch,
    isServing: () => statuses.get('') === true,
    implementation,
    /** Reports NOT_SERVING from now on. */
    drain(): void {
      draining = true;
      reportAll(false);
    },
  };
}
