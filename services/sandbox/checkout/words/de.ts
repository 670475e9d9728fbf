import { html } from '../html.ts';
import type { Words } from './en.ts';

/** German. */
export const de: Words = {
  sandbox: 'Testumgebung: kein echtes Geld',
  reserve: (amount) => `${amount} reservieren`,
  nothingCharged: (merchant) => `${merchant} reserviert diesen Betrag auf Ihrer Karte. Jetzt wird nichts abgebucht.`,
  order: 'Bestellung',
  cardTitle: 'Ihre Karte',
  cardNumber: 'Kartennummer',
  expiry: 'Gültig bis',
  expiryHint: 'Monat / Jahr, etwa 08/31',
  code: 'Prüfnummer',
  codeHint: '3 oder 4 Ziffern auf der Karte',
  savesCard: (merchant) => `${merchant} speichert ein Token dieser Karte für spätere Zahlungen.`,
  submit: (amount) => `${amount} reservieren`,
  cancel: 'Abbrechen',
  cancelAndReturn: (merchant) => `Abbrechen und zurück zu ${merchant}`,
  closesAt: (time) => html`Diese Seite schließt um ${time}.`,
  staysHere: (merchant) => `Ihre Kartennummer erhält nur der Zahlungsdienstleister. ${merchant} sieht sie nicht.`,
  correct: 'Bitte korrigieren',
  errors: {
    numberMissing: 'Geben Sie die Kartennummer ein.',
    numberLength: 'Eine Kartennummer hat 13 bis 19 Ziffern.',
    numberInvalid: 'Diese Kartennummer ist ungültig. Prüfen Sie die Ziffern.',
    numberReal: 'Dies ist eine Testumgebung: Verwenden Sie eine der Testkarten unten, nie eine echte.',
    expiryMissing: 'Geben Sie das Ablaufdatum ein.',
    expiryFormat: 'Geben Sie das Ablaufdatum als Monat und Jahr ein, etwa 08/31.',
    expiryPast: 'Diese Karte ist abgelaufen.',
    expiryFar: 'Dieses Datum liegt zu weit in der Zukunft.',
    codeMissing: 'Geben Sie die Prüfnummer ein.',
    codeOfFour: 'Die Prüfnummer dieser Karte hat vier Ziffern.',
    codeOfThree: 'Die Prüfnummer dieser Karte hat drei Ziffern.',
    codeLength: 'Die Prüfnummer hat drei oder vier Ziffern.',
  },
  declinedTitle: 'Karte abgelehnt',
  declined: {
    do_not_honor: (last4) =>
      `Die Bank hat die Karte mit den Endziffern ${last4} abgelehnt. Es wurde nichts reserviert.`,
    insufficient_funds: (last4) => `Das Konto der Karte mit den Endziffern ${last4} ist nicht ausreichend gedeckt.`,
    token_invalid: (last4) => `Die Bank kennt die Karte mit den Endziffern ${last4} nicht.`,
    challenge_failed: (last4) =>
      `Die Zahlung mit der Karte mit den Endziffern ${last4} wurde bei der Bank nicht bestätigt.`,
    no_answer: (last4) =>
      `Die Bank der Karte mit den Endziffern ${last4} hat nicht geantwortet. Es wurde nichts reserviert.`,
  },
  tryAnother: 'Versuchen Sie es erneut, oder verwenden Sie eine andere Karte.',
  challenge: {
    title: 'Bei Ihrer Bank bestätigen',
    ask: (merchant, amount, last4) =>
      `Ihre Bank fragt, ob Sie ${amount} für ${merchant} mit der Karte mit den Endziffern ${last4} reservieren.`,
    sandbox: 'Diese Seite steht für die Ihrer Bank: Wählen Sie deren Antwort.',
    pass: 'Bestätigen',
    fail: 'Ablehnen',
  },
  ended: {
    approved: {
      title: 'Reserviert',
      message: (merchant, amount) => `${amount} sind für ${merchant} reserviert. Jetzt wird nichts abgebucht.`,
    },
    failed: {
      title: 'Nicht reserviert',
      message: (merchant) =>
        `Beim Zahlungsdienstleister ist ein Fehler aufgetreten. Es wurde nichts reserviert. Bitten Sie ${merchant} um eine neue Seite.`,
    },
    expired: {
      title: 'Seite geschlossen',
      message: () => 'Die Zeit zur Eingabe einer Karte ist abgelaufen. Es wurde nichts reserviert.',
    },
    cancelled: { title: 'Abgebrochen', message: () => 'Dieser Vorgang wurde abgebrochen. Es wurde nichts reserviert.' },
  },
  returnTo: (merchant) => `Zurück zu ${merchant}`,
  canClose: 'Sie können diese Seite schließen.',
  unknownCheckout: {
    title: 'Zahlungsseite nicht gefunden',
    message: 'Prüfen Sie die Adresse, oder bitten Sie den Händler um eine neue.',
  },
  unknownPage: { title: 'Seite nicht gefunden', message: 'Hier ist nichts.' },
  notAccepted: 'Nicht angenommen',
  refusals: {
    foreign: 'Dieses Formular wurde nicht von unserer Seite gesendet. Öffnen Sie die Adresse noch einmal.',
    wrongType: 'Nur das Formular dieser Seite wird angenommen.',
    tooLarge: 'Das Formular ist zu groß.',
  },
  testCards: {
    title: 'Testkarten',
    hint: 'Mit beliebigem künftigem Ablaufdatum und beliebiger Prüfnummer.',
    number: 'Nummer',
    effect: 'Was geschieht',
    fourDigitCode: 'Prüfnummer mit 4 Ziffern',
    challenge: 'Genehmigt nach Bestätigung bei der Bank',
    effects: {
      ok: 'Genehmigt',
      declined: 'Abgelehnt',
      insufficient_funds: 'Abgelehnt: Konto nicht gedeckt',
      invalid: 'Abgelehnt: der Bank unbekannt',
      processor_error: 'Fehler des Zahlungsdienstleisters: der Vorgang scheitert',
      capture_declined: 'Genehmigt; Einzüge werden abgelehnt',
      capture_error: 'Genehmigt; Einzüge scheitern',
      timeout_applied: 'Genehmigt; die Meldung an den Händler geht verloren',
      timeout_lost: 'Die Bank antwortet nicht',
      capture_timeout_applied: 'Genehmigt; Antworten auf Einzüge gehen verloren',
      capture_timeout_lost: 'Genehmigt; Einzüge gehen verloren',
      reversed: 'Genehmigt; Einzüge werden zurückgebucht',
      reversed_in_part: 'Genehmigt; jeder Einzug wird zur Hälfte zurückgebucht',
      capture_accepted: 'Genehmigt; Einzüge bleiben 2 Sekunden offen',
      single_capture: 'Genehmigt; nur ein Einzug',
      ended_early: 'Genehmigt; die Bank beendet sie nach 2 Sekunden',
      expires_2s: 'Genehmigt; endet nach 2 Sekunden',
      slow: 'Genehmigt nach 2 Sekunden',
    },
  },
};
