import type { Log } from '../../../proto/log.ts';
import type { Books } from '../books/books.ts';
import type { Clock } from '../clock.ts';
import type { Reach } from '../crash-points.ts';
import type { CredentialsFeed } from '../feeds/credentials-feed.ts';
import type { OperationFeed } from '../feeds/operation-feed.ts';
import type { Queue } from '../jobs/queue.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { callOverAt, type Processor } from '../processor/processor.ts';
import type { CoreSettings } from '../settings.ts';
import type { Cipher } from '../storage/cipher.ts';
import type { Contracts } from '../storage/contracts.ts';
import type { Database } from '../storage/database.ts';

/** What every handler works with. */
export interface Core {
  readonly settings: CoreSettings;
  readonly database: Database;
  readonly books: Books;
  readonly contracts: Contracts;
  readonly feed: OperationFeed;
  readonly credentials: CredentialsFeed;
  readonly queue: Queue;
  readonly processor: Processor;
  readonly cipher: Cipher;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly reach: Reach;
}

/** When recovery may look at an attempt whose call has not come back. */
export function inquireAfter(core: Core, at: Date): Date {
  return callOverAt(core.processor, at);
}

/** When recovery looks at an attempt whose call came back without an answer. */
export function inquireSoon(core: Core): Date {
  return new Date(core.clock().getTime() + FIRST_INQUIRY_MS);
}

const FIRST_INQUIRY_MS = 1_000;
