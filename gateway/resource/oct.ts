import { OctSchema } from '../../proto/gen/holdfast/v1/oct_pb.js';
import { answer } from './answer.ts';
import { PaymentMethodData } from './hold.ts';

export const Oct = answer('Oct', OctSchema, { parts: { paymentMethod: PaymentMethodData } });
