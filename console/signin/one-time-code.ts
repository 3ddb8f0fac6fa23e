/**
 * The six digits in what was typed or pasted: "123 456", "Your code is 123-456.", full-width digits.
 * Undefined where there is no single group of exactly six.
 */
export function findDigits(text: string): string | undefined {
  const groups = text.normalize('NFKC').match(/(?<!\d)\d(?:[\s-]?\d){5}(?!\d)/g);
  return groups?.length === 1 ? groups[0].replace(/\D/g, '') : undefined;
}

/**
 * Keeps a field to six digits and calls `complete` when they are there, once for each new code; what it returns makes the
 * next one new, whatever it is.
 */
export function watchDigits(field: HTMLInputElement, complete: () => void): () => void {
  let last = '';
  const settle = (digits: string) => {
    field.value = digits;
    if (digits.length === 6 && digits !== last) complete();
    last = digits;
  };
  field.addEventListener('paste', (event) => {
    const digits = findDigits(event.clipboardData?.getData('text') ?? '');
    if (!isDigits(field) || !digits) return;
    event.preventDefault();
    settle(digits);
  });
  field.addEventListener('input', (event) => {
    if (!isDigits(field) || (event as InputEvent).isComposing) return;
    const { value } = field;
    settle(findDigits(value) ?? value.normalize('NFKC').replace(/\D/g, '').slice(0, 6));
  });
  return () => {
    last = '';
  };
}

/** Whether the field asks for digits: a recovery code is any text. */
export const isDigits = (field: HTMLInputElement): boolean => field.inputMode === 'numeric';

/** Whether all six digits are there. */
export const isComplete = (field: HTMLInputElement): boolean => isDigits(field) && /^\d{6}$/.test(field.value.trim());
