import type { Log } from '../../../platform/log.ts';
import type { Clock } from '../clock.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Reporter } from '../report.ts';
import type { Capabilities } from './capability.ts';

/** What the page needs. */
export interface CheckoutSetup {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  readonly capabilities: Capabilities;
  readonly reporter: Pick<Reporter, 'wake' | 'reported'>;
  /** Scheme, host and port under which customers see the page; known once it listens. */
  readonly origin: () => string;
}
