import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import { t } from '../../language/language.ts';

/** For an application at which users cannot sign in yet. @param children a way to add a redirect URI */
export function RedirectUriAlert({ children }: { children?: ReactNode }) {
  return (
    <Alert title={t('No redirect URI')}>
      {t('Sign-in and CORS need one.')} {children}
    </Alert>
  );
}
