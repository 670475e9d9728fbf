import { z } from 'zod';
import { SigningSecretSchema } from '../../proto/gen/holdfast/v1/merchant_pb.js';
import { answer } from './answer.ts';

/** A signing secret without its value. */
export const SigningSecret = answer('SigningSecret', SigningSecretSchema);

/** The value, in the one answer that carries it. */
export const signingSecret = z.string().describe('The secret; shown this once');

/** A new one, with its value. */
export const CreatedSigningSecret = SigningSecret.schema.extend({ signingSecret }).meta({ id: 'CreatedSigningSecret' });
