import { HealthImplementation } from 'grpc-health-check';
import { errorFields, type Log } from '../../proto/log.ts';
import { every } from './jobs/every.ts';
import { settlesWithin } from './settles-within.ts';
import type { Database, Statement } from './storage/database.ts';

/** Whether this process can serve: its database answers, and it is not stopping. */
export interface Health {
  isServing(): boolean;
  /** grpc.health.v1: the same word for the server ('') and each of its services. */
  readonly implementation: HealthImplementation;
  /** From now on and for ever: not serving. */
  drain(): void;
  close(): Promise<void>;
}

export interface HealthParts {
  readonly database: Pick<Database, 'query'>;
  readonly log: Log;
  /** Full names of the services that are served. */
  readonly services: readonly string[];
  /** Between two looks at the database, milliseconds. */
  readonly intervalMs?: number;
}

/** Watches the database. Answers after the first look at it. */
export async function watchHealth({ database, log, services, intervalMs = 1_000 }: HealthParts): Promise<Health> {
  const implementation = new HealthImplementation();
  let serving: boolean | undefined;
  let draining = false;
  let probe: Promise<boolean> | undefined;

  const tell = (next: boolean) => {
    if (next === serving) return;
    serving = next;
    for (const service of ['', ...services]) implementation.setStatus(service, next ? 'SERVING' : 'NOT_SERVING');
    log.info('health', { serving });
  };
  /** A probe that hangs is not joined by another: they would use up the pool. */
  const look = async () => {
    probe ??= database
      .query(PROBE, [])
      .then(
        () => true,
        (error) => {
          if (serving !== false) log.warn('database_away', { ...errorFields(error) });
          return false;
        },
      )
      .finally(() => {
        probe = undefined;
      });
    const looking = probe;
    const answers = (await settlesWithin(PROBE_TIMEOUT_MS, looking)) && (await looking);
    if (!draining) tell(answers);
  };

  await look();
  const repetition = every({ name: 'health', intervalMs, runOnce: look }, log);
  return {
    isServing: () => serving === true,
    implementation,
    drain() {
      draining = true;
      tell(false);
    },
    close: () => repetition.close(),
  };
}

const PROBE_TIMEOUT_MS = 3_000;
const PROBE: Statement = { name: 'probe', text: 'select 1' };
