import type { Database } from '../../platform/adapter/postgres/database.ts';
import type { Log } from '../../platform/log.ts';
import type { AdyenClient } from './api/client.ts';
import type { Entry } from './ledger/entry.ts';

/** What every call works with. */
export interface Context {
  readonly database: Database;
  readonly adyen: AdyenClient;
  readonly log: Log;
  readonly now: () => Date;
  /** Merchant account of merchants whose contract names none. */
  readonly merchantAccount: string;
  readonly holdMs: number;
  readonly resultMs: number;
  /** Authorises as PreAuth. */
  readonly adjustments: boolean;
  /** Before this the ledger may have had entries that it has no more. */
  readonly completeSince: Date;
  /** What is being sent, by its identifier: calls about the same one share one request to Adyen. */
  readonly sending: Map<string, Promise<Entry>>;
  /** Called when there may be a new event to report. */
  readonly onEvent: () => void;
}
