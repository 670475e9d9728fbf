/** What the fake of Adyen keeps and notifies. */

/** A payment, with what Adyen did to it. */
export interface Payment {
  readonly pspReference: string;
  readonly reference: string;
  readonly token: string;
  readonly currency: string;
  authorised: number;
  captured: number;
  refunded: number;
  cancelled: boolean;
  expired: boolean;
}

/** A notification item, signed. */
export interface Item {
  readonly pspReference: string;
  readonly originalReference: string;
  readonly merchantAccountCode: string;
  readonly merchantReference: string;
  readonly eventCode: string;
  readonly success: string;
  readonly reason: string;
  readonly eventDate: string;
  readonly amount: { readonly value: number; readonly currency: string };
  readonly additionalData: Record<string, string>;
}
