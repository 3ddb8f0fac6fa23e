import { NextResponse } from 'next/server';
import { auth } from './auth.js';

export const proxy = auth.proxy(() => NextResponse.next());
