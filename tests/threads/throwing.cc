// SPDX-License-Identifier: MIT
//
// throwing.cc: exceptions of C++ for suites in C: one that is thrown inside of a kernel, and the
// place where it is caught.

extern "C"
{
  void throw_number (int number);
  int catch_number (void (*function) (void *data), void *data);
}

void
throw_number (int number)
{
  throw number;
}

// Calls function; the number that it threw, or -1.
int
catch_number (void (*function) (void *data), void *data)
{
  try
    {
      function (data);
    }
  catch (int number)
    {
      return number;
    }
  return -1;
}
