import type { Html } from '../html.ts';
import type { CardBehaviour } from '../test-card.ts';

/** Every text of the page in one language. A language that lacks one does not compile. */
export interface Words {
  readonly sandbox: string;
  /** Heading of the form. */
  readonly reserve: (amount: string) => string;
  readonly nothingCharged: (merchant: string) => string;
  readonly order: string;
  readonly cardTitle: string;
  readonly cardNumber: string;
  readonly expiry: string;
  readonly expiryHint: string;
  readonly code: string;
  readonly codeHint: string;
  readonly savesCard: (merchant: string) => string;
  readonly submit: (amount: string) => string;
  readonly cancel: string;
  readonly cancelAndReturn: (merchant: string) => string;
  readonly closesAt: (time: Html) => Html;
  readonly staysHere: (merchant: string) => string;
  readonly correct: string;
  readonly errors: Readonly<Record<FieldError, string>>;
  readonly declinedTitle: string;
  /** By the last four digits of the card. */
  readonly declined: Readonly<Record<Decline, (last4: string) => string>>;
  readonly tryAnother: string;
  readonly challenge: {
    readonly title: string;
    readonly ask: (merchant: string, amount: string, last4: string) => string;
    readonly sandbox: string;
    readonly pass: string;
    readonly fail: string;
  };
  /** How a checkout ended. */
  readonly ended: Readonly<Record<Ended, Ending>>;
  readonly returnTo: (merchant: string) => string;
  readonly canClose: string;
  readonly unknownCheckout: Message;
  readonly unknownPage: Message;
  readonly notAccepted: string;
  readonly refusals: Readonly<Record<Refusal, string>>;
  readonly testCards: {
    readonly title: string;
    readonly hint: string;
    readonly number: string;
    readonly effect: string;
    readonly fourDigitCode: string;
    readonly challenge: string;
    readonly effects: Readonly<Record<CardBehaviour, string>>;
  };
}

/** The page of a checkout that ended. */
export interface Ending {
  readonly title: string;
  readonly message: (merchant: string, amount: string) => string;
}

/** A page of text. */
export interface Message {
  readonly title: string;
  readonly message: string;
}

/** What can be wrong with a field. */
export type FieldError =
  | 'numberMissing'
  | 'numberLength'
  | 'numberInvalid'
  | 'numberReal'
  | 'expiryMissing'
  | 'expiryFormat'
  | 'expiryPast'
  | 'expiryFar'
  | 'codeMissing'
  | 'codeOfFour'
  | 'codeOfThree'
  | 'codeLength';

/** Why a card was declined, as the ledger keeps it. */
export type Decline = 'do_not_honor' | 'insufficient_funds' | 'token_invalid' | 'challenge_failed' | 'no_answer';

/** How a checkout ended. */
export type Ended = 'approved' | 'failed' | 'expired' | 'cancelled';

/** Why a form is not accepted. */
export type Refusal = 'foreign' | 'wrongType' | 'tooLarge';
