import { z } from 'zod';
import {
  HoldPhase,
  type Preauthorization,
  PreauthorizationSchema,
} from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { messageJson } from '../../resource/core-messages.ts';
import { holdFields, holdPhase, ListedHold } from '../../resource/hold.ts';

/** A hold as operators see it: without anything that could capture it or pay with its card. */
export const OperatorHold = ListedHold.omit({ checkoutUrl: true, tokenData: true })
  .extend({
    phase: z.enum([...holdPhase.options, 'NEEDS_REVIEW']).meta({ description: 'Where it is in its life' }),
    frozen: z.boolean().meta({ description: 'An event contradicted a final state: nothing more is captured' }),
  })
  .meta({ id: 'OperatorHold', description: 'A hold as operators see it: nothing that could capture or pay' });

/** A hold of core's as JSON, without its checkoutUrl and its token. */
export const operatorHoldJson = messageJson(OperatorHold, PreauthorizationSchema, {
  ...holdFields,
  phase: ({ phase }: Preauthorization) => HoldPhase[phase] as z.output<typeof OperatorHold>['phase'],
});
