import type { Clock } from '../../../platform/clock.ts';
import type { Log } from '../../../platform/log.ts';
import type { Books } from '../books/books.ts';
import type { Reach } from '../domain/crash-points.ts';
import type { Processors } from '../processor/processors.ts';
import type { Cipher } from '../storage/cipher.ts';
import type { Database } from '../storage/database.ts';

/** The means of sending and settling. */
export interface Sender {
  readonly database: Database;
  readonly books: Books;
  readonly clock: Clock;
  readonly log: Log;
  readonly processors: Processors;
  readonly cipher: Cipher;
  readonly reach: Reach;
}
