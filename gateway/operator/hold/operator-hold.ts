import { PreauthorizationSchema } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { answer } from '../../resource/answer.ts';
import { HOLD } from '../../resource/hold.ts';

/** A hold as operators see it: without anything that could capture it or pay with its card. */
export const OperatorHold = answer('OperatorHold', PreauthorizationSchema, {
  about: 'A hold as operators see it: nothing that could capture or pay',
  parts: HOLD.parts,
  without: ['preauthorizationId', 'generatedTokenId', 'checkoutUrl', 'captures'],
});
