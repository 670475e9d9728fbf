import { defineEntity, p } from '@mikro-orm/core';

/** An event that the processor reported, remembered so that a second report changes nothing. */
export const ProcessorEventEntity = defineEntity({
  name: 'ProcessorEvent',
  tableName: 'processor_event',
  properties: {
    id: p.text().primary(),
    receivedAt: p.datetime(3),
  },
});
