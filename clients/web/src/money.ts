// Money is a whole number of minor units, beyond what a float holds: it is
// written and read as text.
import type { Money } from "../gen/tare/payments/v1/payments_pb";

function digits(currency: string): number {
  return new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ?? 0;
}

export function written(money: Money | undefined): string {
  if (!money) {
    return "";
  }
  const { currencyCode: currency, minorUnits } = money;
  const decimal = `${minorUnits}e-${digits(currency)}` as `${number}`; // given as text, it is exact
  return new Intl.NumberFormat(undefined, { style: "currency", currency }).format(decimal);
}

// minorUnits reads an amount such as "4.5". What is finer than the currency's
// smallest unit is a mistake, and not rounded.
export function minorUnits(amount: string, currency: string): bigint {
  const [whole = "", fraction = ""] = amount.split(".");
  const n = digits(currency);
  if (fraction.length > n) {
    throw new Error(`${currency} has ${n} decimal places`);
  }
  return BigInt(whole + fraction.padEnd(n, "0"));
}
