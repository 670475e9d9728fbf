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
  let serving: boolean | undefined;
  let draining = false;
  const report = (next: boolean) => {
    if (next === serving) return;
    serving = next;
    for (const service of ['', ...services]) implementation.setStatus(service, next ? 'SERVING' : 'NOT_SERVING');
  };
  const available = new Map<string, boolean>();
  const reportProcessors = () => {
    for (const processor of processors.names) {
      const next = processors.of({ processor }).isAvailable();
      if (available.get(processor) === next) continue;
      available.set(processor, next);
      implementation.setStatus(`processor/${processor}`, next ? 'SERVING' : 'NOT_SERVING');
    }
  };
  const onProbe = (isUsable: boolean) => {
    reportProcessors();
    if (!draining) report(isUsable);
  };
  const watch = await watchDatabase({ ...parts, onProbe });
  return {
    ...watch,
    isServing: () => serving === true,
    implementation,
    /** Reports NOT_SERVING from now on. */
    drain(): void {
      draining = true;
      report(false);
    },
  };
}
