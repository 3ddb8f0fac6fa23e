import { VisuallyHidden } from '@mantine/core';
import { useEffect, useState } from 'react';
import { t } from '../../language/language.ts';

const secondsUntil = (at: number) => Math.max(0, Math.ceil((at - Date.now()) / 1000));

/** Counts down to the next attempt. Screen readers announce the beginning and the end, not each second. */
export function RetryWait({ at }: { at: number | undefined }) {
  return at === undefined ? null : <Countdown key={at} at={at} />;
}

function Countdown({ at }: { at: number }) {
  const [first] = useState(() => secondsUntil(at));
  const [left, setLeft] = useState(first);
  useEffect(() => {
    const timer = setInterval(() => {
      setLeft(secondsUntil(at));
      if (Date.now() >= at) clearInterval(timer);
    }, 1000);
    return () => clearInterval(timer);
  }, [at]);
  if (left === 0) return t('You can try again now.');
  return (
    <>
      <span aria-hidden="true">{t('Try again in {left} s.', { left })}</span>
      <VisuallyHidden>{t('Try again in {left} s.', { left: first })}</VisuallyHidden>
    </>
  );
}
