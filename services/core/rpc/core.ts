import type { Log } from '../../../platform/log.ts';
import type { Books } from '../books/books.ts';
import type { Cipher } from '../cipher.ts';
import type { Clock } from '../clock.ts';
import type { Reach } from '../crash-points.ts';
import type { Queue } from '../delivery/queue.ts';
import type { OperationFeed } from '../feeds/operation-feed.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { callOverAt } from '../processor/processor.ts';
import type { Processors } from '../processor/processors.ts';
import type { CoreSettings } from '../settings.ts';
import type { Database } from '../storage/database.ts';
import type { ContractCache } from './merchant/contract-cache.ts';

/** What methods work with. */
export interface Core {
  readonly settings: CoreSettings;
  readonly database: Database;
  readonly books: Books;
  readonly contracts: ContractCache;
  readonly feed: OperationFeed;
  readonly queue: Queue;
  readonly processors: Processors;
  readonly cipher: Cipher;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly reach: Reach;
}

/** When recovery may look at a submission whose call has not come back. */
export function inquireAfter(core: Core, at: Date): Date {
  return callOverAt(core.processors, at);
}

/** Where something new of a merchant is sent: the processor of its contract, by its name of today, and the merchant's account there. */
export function placeOf(
  { processors }: Core,
  contract: { readonly processor: string; readonly processorAccount: string },
) {
  const { processor, processorAccount } = contract;
  const name = processor === '' ? processors.names[0] : processors.nameOf(processor);
  return { processor: name ?? processor, processorAccount };
}
