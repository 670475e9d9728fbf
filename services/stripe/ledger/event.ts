import { eventInserter } from '../../../platform/adapter/postgres/outbox.ts';

/** Stores an event for core in the transaction of what it reports; one that is known stays as it is. */
export const insertEvent = eventInserter('stripe');
