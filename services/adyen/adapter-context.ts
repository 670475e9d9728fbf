import type { LedgerContext } from '../../platform/adapter/postgres/start-ledger.ts';
import type { AdyenClient } from './api/client.ts';
import type { Entry } from './ledger/entry.ts';
import type { PageAddresses } from './page/addresses.ts';
import type { GuaranteeDays } from './settlement/guarantee.ts';

/** What every call works with. */
export interface Context extends LedgerContext {
  readonly adyen: AdyenClient;
  /** Merchant account of merchants whose contract names none. */
  readonly merchantAccount: string;
  /** Adyen demands one with each payment. Nobody goes there: customers who are sent to their issuer come to `pages`. */
  readonly returnUrl: string;
  /** The pages for customers whose issuer authenticates them; undefined = there are none. */
  readonly pages: PageAddresses | undefined;
  readonly holdMs: number;
  readonly resultMs: number;
  /** Authorises as PreAuth. */
  readonly adjustments: boolean;
  readonly guaranteeDays: GuaranteeDays;
  /** Before this the ledger may have had entries that it has no more, as it is now. */
  completeSince(): Promise<Date>;
  /** What is being sent, by its identifier: calls about the same one share one request to Adyen. */
  readonly sending: Map<string, Promise<Entry>>;
}
