"""What is verified, run and simulated: exchanges, programs, repetitions, recorded messages."""
