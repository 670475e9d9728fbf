import { z } from 'zod';
import { PreauthorizationSchema } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { messageJson } from '../../resource/core-messages.ts';
import { holdFields, ListedHold } from '../../resource/hold.ts';

/** A hold as operators see it: without anything that could capture it or pay with its card. */
export const OperatorHold = ListedHold.omit({ checkoutUrl: true, tokenData: true })
  .extend({
    phase: z
      .enum(['AWAITING_CHECKOUT', 'AUTHORIZING', 'UNKNOWN', 'AUTHORIZED', 'FAILED', 'NEEDS_REVIEW'])
      .meta({ description: 'How far placing it has come' }),
    frozen: z.boolean().meta({ description: 'An event contradicted a final state: nothing more is captured' }),
  })
  .meta({ id: 'OperatorHold', description: 'A hold as operators see it: nothing that could capture or pay' });

/** A hold of core's as JSON, without its checkoutUrl and its token. */
export const operatorHoldJson = messageJson(OperatorHold, PreauthorizationSchema, holdFields);
