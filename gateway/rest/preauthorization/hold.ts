import { PreauthorizationSchema } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { preauthorizationId } from '../../resource/answer-fields.ts';
import { messageJson } from '../../resource/core-messages.ts';
import { holdFields, ListedHold } from '../../resource/hold.ts';

/** A hold with its preauthorizationId, once it is placed. */
export const Hold = ListedHold.extend({ preauthorizationId: preauthorizationId.optional() }).meta({
  id: 'Hold',
  description:
    'Once placed, amount = amountCaptured + amountInFlight + amountRemaining + amountReleased; before, these are 0',
});

/** A hold of core's as JSON, with its preauthorizationId. */
export const holdJson = messageJson(Hold, PreauthorizationSchema, holdFields);
